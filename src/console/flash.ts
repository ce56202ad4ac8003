import type { Flash } from '../../views/console/toast.tsx'

/** Message about a submitted form. `done` is from the query string, so it is untrusted. */
export const flashOf = (
  flashes: Readonly<Record<string, Flash>>,
  done: string | null | undefined,
): Flash | undefined => (done && Object.hasOwn(flashes, done) ? flashes[done] : undefined)
