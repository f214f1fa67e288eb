import { createFieldSearch } from './selects-field.ts';

/**
 * Whether a document selects `Post.body`. Otherwise lists of posts are read without bodies, which have up to 80 kB
 * each.
 */
export const selectsPostBody = createFieldSearch('Post', 'body');
