export interface User {
  id: string;
  name: string;
}

export interface Post {
  id: string;
  title: string;
  body: string | null;
  /** More than 1 for a post that was changed. */
  version: number;
  publishedAt: string;
  author: User;
}

export interface Room {
  id: string;
  name: string;
  visibility: 'PUBLIC' | 'PRIVATE';
  /** Null: the viewer is not a member. */
  viewerRole: 'OWNER' | 'MEMBER' | null;
}

/** The position of a post among those of its room, as a text to compare. */
export const positionOf = ({ publishedAt, id }: Post): string => `${publishedAt} ${id}`;

/** The fields of `Post`. */
export const postSelection = 'id title body version publishedAt author { id name }';
