import { spyOn } from 'bun:test'

/** Holds up the verification of passwords until it is released. `begun` counts what it holds. */
export function holdPasswords() {
  const real = Bun.password.verify
  const { promise, resolve: release } = Promise.withResolvers<void>()
  const work = spyOn(Bun.password, 'verify')
    .mockClear()
    .mockImplementation(async (...of) => {
      await promise
      return real(...of)
    })
  function end() {
    release()
    work.mockRestore()
  }
  return { begun: () => work.mock.calls.length, release, [Symbol.dispose]: end }
}

/** Counts how often a password is verified. The spy is shared by the process, so use one that no other test uses. */
export function countVerifications(password: string) {
  const work = spyOn(Bun.password, 'verify').mockClear()
  return {
    hashes: () =>
      work.mock.calls.filter(([given]) => String(given) === password).map(([, hash]) => `${hash}`),
    [Symbol.dispose]: () => work.mockRestore(),
  }
}

export async function untilIt(is: () => boolean) {
  while (!is()) await new Promise((resolve) => setImmediate(resolve))
}
