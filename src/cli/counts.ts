/** One line for each kind with a count above 0. */
export const countLines = (counts: Record<string, number>): string[] =>
  Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => `${`${count}`.padStart(8)}  ${kind}`)
