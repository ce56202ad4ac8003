export type Query = Record<string, string | number | boolean | undefined | null>

/**
 * The address of a page beneath the base path, which is empty or begins with a slash and ends
 * without one. What is empty or not given is left out, so that addresses stay short enough to read.
 */
export function url(base: string, path: string, query: Query = {}): string {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== '') params.set(name, String(value))
  }
  const search = params.toString()
  return `${base}${path}${search === '' ? '' : `?${search}`}`
}
