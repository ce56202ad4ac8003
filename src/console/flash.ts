import type { Flash } from '../../views/console/toast.tsx'

/** What a page says about the form that led to it; `done` is of the address, so anybody's word. */
export const flashOf = (
  flashes: Readonly<Record<string, Flash>>,
  done: string | null | undefined,
): Flash | undefined => (done && Object.hasOwn(flashes, done) ? flashes[done] : undefined)
