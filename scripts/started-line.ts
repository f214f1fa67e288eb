/** The line of a server's log, up to the level `info`, that says that it accepts requests. The group is its URL. */
export const startedLine = /"url":"(http:[^"]+)\/graphql".*"msg":"started"/;
