declare const mayReceive: unique symbol

/**
 * The id of an operator who may be given a right. Stores take no other, so that each grant has
 * decided what happens to an account whose address was never verified.
 */
export type Grantee = string & { readonly [mayReceive]: true }

/** An account that is made in the commit of the grant: no one else has been in it. */
export const newcomer = ({ id }: { id: string }): Grantee => id as Grantee
