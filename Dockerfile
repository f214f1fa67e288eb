# Node runs the TypeScript sources directly, so there is no build step. The oldest releases of Node without known
# vulnerabilities are 24.22.3 and 26.13.1 (SECURITY.md). `docker build --pull` also gets the latest packages of Debian.

FROM node:24.22.3-slim AS base

FROM base AS packages
WORKDIR /app
COPY package.json package-lock.json ./
# The workspace contains only Node, which is in the image.
RUN npm ci --omit=dev --workspaces=false --ignore-scripts

FROM base
# docker build --build-arg REVISION=$(git rev-parse HEAD) .
ARG REVISION
LABEL org.opencontainers.image.title="Postroom" \
    org.opencontainers.image.description="A GraphQL server for users, posts and live rooms" \
    org.opencontainers.image.version="0.1.0" \
    org.opencontainers.image.revision="$REVISION" \
    org.opencontainers.image.licenses="MIT"
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=4000 \
    DATABASE_URL=sqlite:/data/postroom.db
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY package.json schema.graphql possible-types.json ./
COPY src ./src
# The database of a single node, and its session key: the only folder to which the server writes, so the root file system
# can be read-only. The user `node` of the image is not root.
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 4000
HEALTHCHECK --interval=5s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/ready`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Node itself is process 1, so that it receives the signals of the container.
CMD ["node", "--max-semi-space-size=32", "src/main.ts", "serve"]
