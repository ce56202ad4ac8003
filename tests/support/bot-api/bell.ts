const PATIENCE_MS = 4_000

export type Bell = ReturnType<typeof newBell>

/** Lets tests wait for something to have happened, without looking again and again. */
export function newBell() {
  const waiting = new Set<() => void>()

  return {
    /** Something happened: whoever waits looks again. */
    ring: () => {
      for (const look of [...waiting]) look()
    },

    /** Resolves with what `find` finds, at once or as soon as it finds something. */
    until: <T>(find: () => T | undefined, what: string, withinMs = PATIENCE_MS): Promise<T> =>
      new Promise((resolve, reject) => {
        const end = (finish: () => void) => {
          clearTimeout(timer)
          waiting.delete(look)
          finish()
        }
        const look = () => {
          const found = find()
          if (found !== undefined) end(() => resolve(found))
        }
        const timer = setTimeout(
          () => end(() => reject(new Error(`no ${what} within ${withinMs} ms`))),
          withinMs,
        )
        waiting.add(look)
        look()
      }),
  }
}
