/** Characters that end a line or reverse the text direction. */
export const UNSAFE_IN_LINE = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu

/** Line ends, invisible characters and unpaired surrogates, but not joiners or shape selectors. */
export const UNSAFE_IN_NAME =
  /[[\p{Default_Ignorable_Code_Point}--[\p{Join_Control}\p{Variation_Selector}]]\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u2800\ufff9-\ufffb]+/gv

/** More than three marks on a letter, which no script needs and which would run over the page. */
export const HEAPS = /((?:\p{M}\p{Join_Control}*){3})(?:\p{M}\p{Join_Control}*)+/gu
