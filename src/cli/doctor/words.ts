/** `1 run`, `2 runs`. */
export const counted = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? '' : 's'}`

/** The first few of many, by name. */
export function named(names: readonly string[]): string {
  const shown = names.slice(0, 3).join(', ')
  return names.length > 3 ? `${shown} and ${names.length - 3} more` : shown
}

export const MB = 1024 * 1024

export const megabytes = (bytes: number): string =>
  `${bytes < 10 * MB ? Math.round((bytes / MB) * 10) / 10 : Math.floor(bytes / MB)} MB`
