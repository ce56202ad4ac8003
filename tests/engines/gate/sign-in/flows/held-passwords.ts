import { spyOn } from 'bun:test'

/** Holds up the verification of passwords until it is released. `begun` counts what it holds. */
export function holdPasswords() {
  const real = Bun.password.verify
  const held: (() => void)[] = []
  let isOpen = false
  const work = spyOn(Bun.password, 'verify')
    .mockClear()
    .mockImplementation(async (...of) => {
      if (!isOpen) await new Promise<void>((resolve) => void held.push(resolve))
      return real(...of)
    })

  function release() {
    isOpen = true
    for (const go of held.splice(0)) go()
  }

  return {
    begun: () => work.mock.calls.length,
    /** The passwords in the order in which their verification began. */
    passwords: () => work.mock.calls.map(([password]) => String(password)),
    release,
    releaseFirst: () => held.shift()?.(),
    [Symbol.dispose]: () => {
      release()
      work.mockRestore()
    },
  }
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

/** Waits for a condition. */
export async function untilIt(is: () => boolean) {
  while (!is()) await new Promise((resolve) => setImmediate(resolve))
}
