import { withCpu } from './cpu.ts'
import type { Sample } from './rounds.ts'
import type { Server } from './server.ts'

/** What `floor/calls.ts` is asked to do. */
export interface CallPlan {
  client: 'outbound' | 'fetch' | 'fresh fetch'
  urls: string[]
  calls: number
  /** Under way at once. */
  concurrency: number
}

export async function makeCalls({ url, pid }: Server, plan: CallPlan): Promise<Sample> {
  const ask = () => fetch(url, { method: 'POST', body: JSON.stringify(plan) })
  const { result, cpu } = await withCpu(pid, async () => (await ask()).json())
  const { ms } = result as { ms: number }
  return fired(ms, cpu, plan.calls)
}

/** The same measures for the process that made the calls. */
export const fired = (ms: number, cpu: number, calls: number): Sample => ({
  ms,
  'CPU µs/call': (cpu / calls) * 1000,
})
