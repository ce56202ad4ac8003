import type { Db } from '../../../../db/open.ts'
import type { IdentityRow } from '../../identities/store.ts'
import type { Store } from '../../store.ts'
import type { Client } from './client.ts'
import { type Codes, complaintOf, type Sending } from './codes.ts'
import type { CodeRow } from './codes-store.ts'
import { complain } from './failure.ts'
import type { FlowRepository } from './flow.ts'
import type { Stepped } from './kinds/kind.ts'
import type { FlowRow } from './store.ts'
import type { Submission } from './submission.ts'
import type { Throttle } from './throttle.ts'

/** A form, and the client that sent it. */
interface Sent {
  input: Submission
  client: Client
}

export type CodeSteps = ReturnType<typeof createCodeSteps>

/** The two steps of every emailed code: sending it, and redeeming it. */
export function createCodeSteps(parts: {
  db: Db
  store: Store
  repository: FlowRepository
  codes: Codes
  throttle: Throttle
}) {
  const { db, store, repository, codes, throttle } = parts

  /**
   * Sends a code to the account with the address, if it may sign in by this flow. The response is
   * the same if no account has the address.
   */
  async function sendToHolder(
    flow: FlowRow,
    {
      address,
      ...sending
    }: Pick<Sending, 'address' | 'client' | 'link' | 'latestWorks' | 'letter'>,
  ): Promise<Stepped> {
    const sent = await db.commitFor(flow.tenantId, () => {
      const current = repository.open(flow.id)
      const person = store.identities.byEmail(flow.tenantId, address)
      const isMeant = current.identityId === null || current.identityId === person?.id
      const isGood = person?.state === 'active' && isMeant
      const withheld = isGood ? undefined : 'no account that can sign in has this address'
      return codes.send(current, { ...sending, address, person, withheld })
    })
    return { is: 'flow', flow: sent }
  }

  /**
   * Runs `use` within the commit that consumes a correct code. A failed attempt is stored and
   * reported as a field error; so is a code for which `use` has nothing to do.
   */
  async function redeem<T extends object>(
    flow: FlowRow,
    { input, client }: Sent,
    use: (flow: FlowRow, code: CodeRow) => T | undefined,
  ): Promise<T> {
    const typed = input.required('code')
    return throttle.watched(client, () => redeemCode(flow, typed, use))
  }

  async function redeemCode<T extends object>(
    flow: FlowRow,
    typed: string,
    use: (flow: FlowRow, code: CodeRow) => T | undefined,
  ): Promise<T> {
    const { used, verdict } = await db.commitFor(flow.tenantId, () => {
      const checked = codes.check(repository.open(flow.id), typed)
      if (checked.verdict !== 'right') return { verdict: checked.verdict, used: undefined }
      return { verdict: 'wrong' as const, used: use(checked.flow, checked.code) }
    })
    if (used === undefined) throw complain(complaintOf(flow.kind, { verdict }), { field: 'code' })
    return used
  }

  /** The same for a code of a known identity, unless its purpose has become void since. */
  const redeemOwn = <T extends object>(
    flow: FlowRow,
    sent: Sent,
    use: (flow: FlowRow, person: IdentityRow, code: CodeRow) => T,
  ): Promise<T> =>
    redeem(flow, sent, (current, code) => {
      const person = ownerOf(code)
      return person && use(current, person, code)
    })

  function ownerOf({ tenantId, identityId, generation }: CodeRow): IdentityRow | undefined {
    const person = identityId === null ? undefined : store.identities.find(tenantId, identityId)
    return person?.sessionGeneration === generation ? person : undefined
  }

  return { sendToHolder, redeem, redeemOwn }
}
