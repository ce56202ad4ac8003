import type { Clock } from '../../../../platform/clock.ts'
import { isSame } from '../../../../platform/crypto.ts'
import { newId } from '../../../../platform/ids.ts'
import type { Sealing } from '../../../../platform/sealing/index.ts'
import type { IdentityRow } from '../../identities/store.ts'
import type { Store } from '../../store.ts'
import type { FlowKind } from '../model.ts'
import type { CodeRow } from './codes-store.ts'
import type { FlowRepository } from './flow.ts'
import type { FlowRow } from './store.ts'
import type { MessageId } from './ui/messages.ts'

/** Maximum number of codes that can be entered in one flow. */
const MAX_ATTEMPTS = 5
const KEPT = 'gate codes'

export type Checked =
  | { outcome: 'right'; code: CodeRow }
  | { outcome: 'wrong' | 'spent'; code?: undefined }

export type Codes = ReturnType<typeof createCodes>

/** Codes that were sent to an address and are entered in a flow. Everything runs within a commit. */
export function createCodes(parts: {
  store: Store
  clock: Clock
  sealing: Sealing
  repository: FlowRepository
}) {
  const { store, clock, sealing, repository } = parts

  /** Stores the hash of a code. Without an owner, the code is worthless. */
  function insert(
    flow: FlowRow,
    of: { code: string; address: string; owner: IdentityRow | undefined; expiresAt: number },
  ) {
    const { code, address, owner, expiresAt } = of
    store.codes.insert({
      id: newId(),
      tenantId: flow.tenantId,
      flowId: flow.id,
      identityId: owner?.id ?? null,
      generation: owner?.sessionGeneration ?? null,
      address,
      hash: hashOf(flow, code),
      issuedAt: clock.now(),
      expiresAt,
    })
  }

  const remove = ({ tenantId, id }: FlowRow) => store.codes.removeOfFlow(tenantId, id)

  /** Removes the codes sent to an address earlier for the same purpose. */
  const removeEarlier = ({ tenantId, kind }: FlowRow, { id }: IdentityRow, address: string) =>
    store.codes.removeOfKind(tenantId, id, { kind, address })

  /** Returns failures instead of throwing, because every attempt must be committed. */
  function check(flow: FlowRow, typed: string): Checked & { flow: FlowRow } {
    if (flow.tries >= MAX_ATTEMPTS) return { outcome: 'spent', flow }
    const next = repository.save(flow, { tries: flow.tries + 1 })
    const code = store.codes.ofFlow(flow.tenantId, flow.id)
    const hash = hashOf(flow, typed.replaceAll(/\s/g, ''))
    const isRight = code !== undefined && isSame(code.hash, hash) && clock.now() < code.expiresAt
    if (!isRight) return { outcome: 'wrong', flow: next }
    remove(flow)
    return { outcome: 'right', code, flow: next }
  }

  const hashOf = ({ id }: FlowRow, code: string) => sealing.fingerprint(KEPT, `${id} ${code}`)

  return { insert, remove, removeEarlier, check }
}

/** The message for a code that was not accepted. */
export const codeErrorOf = (kind: FlowKind, outcome: Checked['outcome']): MessageId =>
  outcome === 'spent' ? 4900001 : WRONG_CODE[kind]

const WRONG_CODE: Record<FlowKind, MessageId> = {
  login: 4010008,
  registration: 4040003,
  recovery: 4060006,
  verification: 4070006,
  settings: 4000001,
}
