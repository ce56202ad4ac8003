/** What ends a line, or turns the rest of it round. */
export const UNSAFE_IN_LINE = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu

/**
 * What has no place in somebody's name: that, what cannot be seen, and halves of characters.
 * What joins letters or picks the shape of one stays.
 */
export const UNSAFE_IN_NAME =
  /[[\p{Default_Ignorable_Code_Point}--[\p{Join_Control}\p{Variation_Selector}]]\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u2800\ufff9-\ufffb]+/gv

/** Marks above and below a letter: more than any script has would run over the page. */
export const HEAPS = /((?:\p{M}\p{Join_Control}*){3})(?:\p{M}\p{Join_Control}*)+/gu
