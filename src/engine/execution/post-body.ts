import { createFieldSearch } from './selects-field.ts';

/** Whether a document selects `Post.body`. Lists of posts are read without it where nothing asks for it: it is up to 80 kB long. */
export const selectsPostBody = createFieldSearch('Post', 'body');
