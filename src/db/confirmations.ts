import { messageOf, StorageError } from './errors.ts'

/**
 * What a commit waits for: `disk` until it is on this disk; `replica` also until the replica has it,
 * as long as the timeout allows; `effect` however long that takes, because what follows can't be
 * undone, such as the call that a claim allows.
 */
export type Wait = 'disk' | 'replica' | 'effect'

/** A copy of the database on another machine. */
export interface Replica {
  /** Resolves once the copy has everything that was committed before the call. */
  confirm: () => Promise<void>
  timeoutMs: number
  /** What happens to a write that is not confirmed in time, and to later ones. */
  onTimeout: 'refuse' | 'acknowledge'
  /** Called with the reason when confirmations begin to fail, and with undefined when they work again. */
  onChange: (reason: string | undefined) => void
}

interface Held {
  settle: () => void
  refuse: (error: StorageError) => void
  /** Whether it is held however long it takes. */
  isPatient: boolean
  /** When it is late, on the monotonic clock. */
  until: number
}

/** Milliseconds between looks at whether anything is held. */
const SETTLED_MS = 10

/** Milliseconds between calls while the replica can't be reached. */
const RETRY_MS = 500

export type Confirmations = ReturnType<typeof createConfirmations>

/**
 * Holds back the results of commits until a replica has them. One call confirms all that was committed
 * before it, and there is one call at a time, so that throughput is that of group commit: what is
 * committed during a call waits for the next one.
 */
export function createConfirmations({ confirm, timeoutMs, onTimeout, onChange }: Replica) {
  const held = new Set<Held>()
  let isCalling = false
  let stalled: StorageError | undefined
  let reason = 'it does not answer'
  let isTimed = false

  /** Settles the result of a commit that is on disk once it is confirmed, or refuses it. */
  function hold(wait: Wait, result: Pick<Held, 'settle' | 'refuse'>) {
    if (wait === 'disk' || (stalled && onTimeout === 'acknowledge')) return result.settle()
    const isPatient = wait === 'effect' && onTimeout === 'refuse'
    held.add({ ...result, isPatient, until: performance.now() + timeoutMs })
    if (!isTimed) expireIn(timeoutMs)
    if (!isCalling) void call()
  }

  async function call() {
    isCalling = true
    while (held.size > 0 || stalled) {
      const before = [...held]
      try {
        await confirm()
        resume()
        for (const one of before) if (held.delete(one)) one.settle()
      } catch (error) {
        reason = messageOf(error)
        await Bun.sleep(RETRY_MS)
      }
    }
    isCalling = false
  }

  function expire() {
    isTimed = false
    const now = performance.now()
    let next = Infinity
    for (const one of held)
      if (one.until > now) next = Math.min(next, one.until)
      else beLate(one)
    if (next < Infinity) expireIn(next - now)
  }

  function expireIn(ms: number) {
    isTimed = true
    setTimeout(expire, ms).unref()
  }

  function beLate(one: Held) {
    stall()
    one.until = Infinity
    if (one.isPatient) return
    held.delete(one)
    if (onTimeout === 'acknowledge') one.settle()
    else one.refuse(notReplicated({ isStored: true }))
  }

  function stall() {
    if (stalled) return
    stalled = notReplicated({ isStored: false })
    onChange(reason)
  }

  function resume() {
    if (!stalled) return
    stalled = undefined
    onChange(undefined)
  }

  async function settled() {
    const before = [...held]
    while (before.some((one) => held.has(one))) await Bun.sleep(SETTLED_MS)
  }

  return {
    hold,
    /** Resolves when no result of now is held, whatever is committed meanwhile. */
    settled,
    /** Why new work must not begin; undefined if it may. */
    refusal: (wait: Wait) => (wait === 'disk' || onTimeout !== 'refuse' ? undefined : stalled),
  }
}

const notReplicated = ({ isStored }: { isStored: boolean }) =>
  new StorageError(
    isStored
      ? 'the replica has not confirmed the write in time, so it may be lost or stored'
      : 'the replica cannot be reached, so nothing is written',
    { isStored },
  )
