# syntax=docker/dockerfile:1
# Node runs the TypeScript sources directly, so there is no build step.

FROM node:24-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
# Node is in the image; the package `node` is only for development.
RUN npm ci --omit=dev --ignore-scripts

FROM node:24-slim
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=4000 \
    DATABASE_URL=sqlite:/data/postroom.db
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY package.json schema.graphql ./
COPY src ./src
# The database of a single node, and its session key. The user `node` of the image is not root.
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 4000
HEALTHCHECK --interval=5s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/ready`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Node itself is process 1, so that it receives the signals of the container.
CMD ["node", "--max-semi-space-size=16", "src/main.ts", "serve"]
