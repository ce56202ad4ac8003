/** Identifies content: an entity tag, with its quotes (RFC 9110, 8.8.3). */
export const tagOf = (content: string | Uint8Array): string => `"${Bun.hash(content).toString(36)}"`

/** Whether the client has what the tag identifies: RFC 9110, 13.1.2. */
export const isKnown = ({ headers }: Request, tag: string): boolean =>
  (headers.get('if-none-match') ?? '')
    .split(',')
    .map((one) => one.trim().replace(/^W\//, ''))
    .some((one) => one === tag || one === '*')
