import type { Bell } from './bell.ts'
import type { Queue } from './queue.ts'
import { conflict, type Refusal, type Update } from './wire.ts'

export type Poll = ReturnType<typeof newPoll>

/** The one call of `getUpdates` that may be held for a bot. */
export function newPoll(queue: Queue, bell: Bell) {
  let held: { look: () => void; leave: () => void; refuse: (refusal: Refusal) => void } | undefined

  function hold(offset: number, limit: number, timeoutS: number, gone: AbortSignal) {
    return new Promise<Update[]>((resolve, reject) => {
      const end = (finish: () => void) => {
        clearTimeout(timer)
        gone.removeEventListener('abort', leave)
        if (held === own) held = undefined
        finish()
        bell.ring()
      }
      const leave = () => end(() => resolve([]))
      const own = {
        leave,
        look: () => {
          const updates = queue.read(Math.max(offset, 0), limit)
          if (updates.length > 0) end(() => resolve(updates))
        },
        refuse: (refusal: Refusal) => end(() => reject(refusal)),
      }
      const timer = setTimeout(leave, timeoutS * 1000)
      gone.addEventListener('abort', leave)
      held = own
      bell.ring()
    })
  }

  return {
    count: () => (held ? 1 : 0),

    /** There may be something new. */
    look: () => held?.look(),

    /** Ends the held call, if there is one, with nothing new. */
    end: () => held?.leave(),

    /** Ends the held call, if there is one. */
    refuse: (refusal: Refusal) => held?.refuse(refusal),

    read: async (
      { offset, limit, timeoutS }: { offset: number; limit: number; timeoutS: number },
      gone: AbortSignal,
    ): Promise<Update[]> => {
      const updates = queue.read(offset, limit)
      if (updates.length > 0 || timeoutS === 0 || gone.aborted) return updates
      held?.refuse(
        conflict(
          'terminated by other getUpdates request; make sure that only one bot instance is running',
        ),
      )
      return await hold(offset, limit, timeoutS, gone)
    },
  }
}
