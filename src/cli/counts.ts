/** Of each kind that there is, how many. */
export const countLines = (counts: Record<string, number>): string[] =>
  Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => `${`${count}`.padStart(8)}  ${kind}`)
