export type Direction = 'asc' | 'desc'

/** The order of a list: by one of its sorts, in the query string as `-created` or `created`. */
export interface Sorting<Name extends string = string> {
  by: Name
  isDescending: boolean
}

/** Sorts that a list offers, each with the direction that comes first. The first one is the default. */
export type Sorts<Name extends string> = Readonly<Record<Name, Direction>>

/** Reads the order from the query string; the default for one that the list doesn't offer. */
export function sortingIn<Name extends string>(
  text: string | undefined,
  sorts: Sorts<Name>,
): Sorting<Name> {
  const names = Object.keys(sorts) as Name[]
  const by = names.find((name) => name === text?.replace(/^-/, ''))
  if (by !== undefined) return { by, isDescending: text?.startsWith('-') ?? false }
  const first = names[0] as Name
  return { by: first, isDescending: sorts[first] === 'desc' }
}

/** For the query string; undefined for the default. */
export function sortingText<Name extends string>(
  { by, isDescending }: Sorting<Name>,
  sorts: Sorts<Name>,
): string | undefined {
  const standard = sortingIn(undefined, sorts)
  if (standard.by === by && standard.isDescending === isDescending) return undefined
  return isDescending ? `-${by}` : by
}

/** What the header of a sort leads to: the other direction, or its first one. */
export const turned = <Name extends string>(
  current: Sorting<Name>,
  by: Name,
  sorts: Sorts<Name>,
): Sorting<Name> => ({
  by,
  isDescending: current.by === by ? !current.isDescending : sorts[by] === 'desc',
})
