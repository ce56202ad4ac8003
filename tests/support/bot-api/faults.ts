import { cut, Refusal, refused } from './wire.ts'

export interface FaultFields {
  /** Every method where none is named. */
  method?: string
  bot?: { id: number }
  /** Until it is ended where none is given. */
  times?: number
  status?: number
  description?: string
  /** In seconds; 429 unless another status is given. */
  retryAfter?: number
  /** By itself, a slow reply and nothing else. */
  delayMs?: number
  /** By itself, a reply that waits for this and nothing else. */
  until?: Promise<unknown>
  /** Cuts the connection. */
  drop?: true
  /** A page of a proxy in place of JSON. */
  garbage?: true
  /** What was asked is done all the same: the reply alone goes wrong. */
  worksAnyway?: true
}

const REASONS: Record<number, string> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  409: 'Conflict',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
}

export type Faults = ReturnType<typeof newFaults>

/** What goes wrong on purpose. */
export function newFaults() {
  const faults = new Set<{ fields: FaultFields; hits: number }>()

  return {
    add: (fields: FaultFields) => {
      const fault = { fields, hits: 0 }
      faults.add(fault)
      const end = () => void faults.delete(fault)
      return { end, hits: () => fault.hits, [Symbol.dispose]: end }
    },

    /** The fault that befalls a call, the one named first before others. */
    take: (method: string, botId: number): FaultFields | undefined => {
      for (const fault of faults) {
        const { fields } = fault
        if (fields.method !== undefined && fields.method !== method) continue
        if (fields.bot !== undefined && fields.bot.id !== botId) continue
        fault.hits++
        if (fault.hits === fields.times) faults.delete(fault)
        return fields
      }
      return undefined
    },
  }
}

/** The reply that goes wrong; undefined where the fault is but slowness. */
export function brokenReply(fault: FaultFields): Response | undefined {
  const { status, retryAfter, description } = fault
  if (fault.drop) return cut()
  if (fault.garbage)
    return new Response('<html><body>An error occurred.</body></html>', {
      status: status ?? 200,
      headers: { 'content-type': 'text/html' },
    })
  if (status === undefined && retryAfter === undefined) return undefined
  const code = status ?? 429
  const reason = REASONS[code] ?? 'Error'
  const later = retryAfter === undefined ? '' : `: retry after ${retryAfter}`
  return refused(new Refusal(code, description ?? reason + later, retryAfter))
}
