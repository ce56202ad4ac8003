import { spyOn } from 'bun:test'

/**
 * Stops all work on passwords before it begins, until it is let go: so that a test can do
 * something meanwhile. `begun` counts what has been stopped.
 */
export function holdPasswords() {
  const real = Bun.password.verify
  const held: (() => void)[] = []
  let isOpen = false
  const work = spyOn(Bun.password, 'verify').mockImplementation(async (...of) => {
    if (!isOpen) await new Promise<void>((resolve) => void held.push(resolve))
    return real(...of)
  })

  function open() {
    isOpen = true
    for (const go of held.splice(0)) go()
  }

  return {
    begun: () => work.mock.calls.length,
    /** The passwords that are looked at, in the order in which that began. */
    passwords: () => work.mock.calls.map(([password]) => String(password)),
    release: open,
    /** Lets the one go that was begun first. */
    releaseFirst: () => held.shift()?.(),
    [Symbol.dispose]: () => {
      open()
      work.mockRestore()
    },
  }
}

/** Waits until something is so, without any time being fixed. */
export async function untilIt(is: () => boolean) {
  while (!is()) await new Promise((resolve) => setImmediate(resolve))
}
