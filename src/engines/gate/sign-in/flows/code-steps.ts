import type { IdentityRow } from '../../identities/store.ts'
import type { SignIns } from '../../sessions/sign-ins.ts'
import type { Store } from '../../store.ts'
import { type Client, deviceOf } from './client.ts'
import type { CodeMails, Sending } from './code-mails.ts'
import { type Codes, codeErrorOf } from './codes.ts'
import type { CodeRow } from './codes-store.ts'
import { fieldError } from './failure.ts'
import type { FlowRepository } from './flow.ts'
import type { Stepped } from './kinds/kind.ts'
import type { FlowRow } from './store.ts'
import type { Form } from './submission.ts'
import type { Throttle } from './throttle.ts'

export type CodeSteps = ReturnType<typeof createCodeSteps>

/** The two steps of every emailed code: sending it, and redeeming it. */
export function createCodeSteps(parts: {
  store: Store
  repository: FlowRepository
  codes: Codes
  codeMails: CodeMails
  throttle: Throttle
  signIns: SignIns
}) {
  const { store, repository, codes, codeMails, throttle, signIns } = parts

  /** Sends a code if an account may sign in by this flow. Without one, the response is the same. */
  const sendToHolder = (
    form: Form,
    sending: Pick<Sending, 'address' | 'link' | 'latestWorks' | 'write'>,
  ): Promise<Stepped> =>
    send(form, (flow) => {
      const person = store.identities.byEmail(flow.tenantId, sending.address)
      const isMeant = flow.identityId === null || flow.identityId === person?.id
      const isGood = person?.state === 'active' && isMeant
      const withheld = isGood ? undefined : 'no account that can sign in has this address'
      return { flow, ...sending, person, withheld }
    })

  /** Sends the code that `prepare` describes, within the same commit. */
  async function send(
    { flow, client }: Form,
    prepare: (flow: FlowRow) => { flow: FlowRow } & Omit<Sending, 'client'>,
  ): Promise<Stepped> {
    throttle.counted(client)
    return repository.advance(flow, (current) => {
      const { flow: prepared, ...sending } = prepare(current)
      return { is: 'flow', flow: codeMails.send(prepared, { ...sending, client }) } as const
    })
  }

  /**
   * Runs `use` within the commit that consumes a correct code. A failed attempt is stored and
   * reported as a field error; so is a code for which `use` has nothing to do.
   */
  async function redeem<T extends object>(
    { flow, input, client }: Form,
    use: (flow: FlowRow, code: CodeRow) => T | undefined,
  ): Promise<T> {
    const typed = input.required('code')
    return throttle.watched(client, () => redeemCode(flow, client, typed, use))
  }

  async function redeemCode<T extends object>(
    flow: FlowRow,
    client: Client,
    typed: string,
    use: (flow: FlowRow, code: CodeRow) => T | undefined,
  ): Promise<T> {
    const { used, outcome } = await repository.advance(flow, (current) => {
      const checked = codes.check(current, typed)
      if (checked.outcome !== 'right') return { outcome: checked.outcome, used: undefined }
      return { outcome: 'wrong' as const, used: use(checked.flow, checked.code) }
    })
    if (used === undefined) {
      noteWrongCode(flow, client)
      throw fieldError(codeErrorOf(flow.kind, outcome), { field: 'code' })
    }
    return used
  }

  function noteWrongCode({ kind, tenantId, address }: FlowRow, client: Client) {
    const person =
      kind === 'login' && address !== null ? store.identities.byEmail(tenantId, address) : undefined
    if (person) signIns.failed(person, { method: 'code', ...deviceOf(client) }, 'wrong')
  }

  /** The same for a code of a known identity, unless its purpose has become void since. */
  const redeemOwn = <T extends object>(
    form: Form,
    use: (flow: FlowRow, person: IdentityRow, code: CodeRow) => T,
  ): Promise<T> =>
    redeem(form, (flow, code) => {
      const person = ownerOf(code)
      return person && use(flow, person, code)
    })

  function ownerOf({ tenantId, identityId, generation }: CodeRow): IdentityRow | undefined {
    const person = identityId === null ? undefined : store.identities.find(tenantId, identityId)
    return person?.sessionGeneration === generation ? person : undefined
  }

  return { send, sendToHolder, redeem, redeemOwn }
}
