export type Query = Record<string, string | number | boolean | undefined | null>

/**
 * Address of a page under the base path, which is empty or starts with a slash and has none at the end.
 * Empty parameters are omitted.
 */
export function url(base: string, path: string, query: Query = {}): string {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== '') params.set(name, String(value))
  }
  const search = params.toString()
  return `${base}${path}${search === '' ? '' : `?${search}`}`
}
