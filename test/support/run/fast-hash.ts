/** The cost of the passwords of tests, which sign up more than a thousand accounts: at the usual cost a hash takes 50 ms. */
export const fastHash = { memory: 64, passes: 1 };
