import { spyOn } from 'bun:test'

/**
 * Stops all work on passwords before it begins, until it is let go: so that a test can do
 * something meanwhile. `begun` counts what has been stopped.
 */
export function holdPasswords() {
  const real = Bun.password.verify
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  const work = spyOn(Bun.password, 'verify').mockImplementation(async (...of) => {
    await opened
    return real(...of)
  })
  return {
    begun: () => work.mock.calls.length,
    release: () => open(),
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
