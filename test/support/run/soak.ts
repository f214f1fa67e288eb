/** Whether `npm run test:soak` runs the test, which then repeats more often. */
export const isSoak = process.env['SOAK'] !== undefined;
