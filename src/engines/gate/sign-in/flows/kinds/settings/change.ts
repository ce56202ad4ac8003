import type { Audit } from '../../../../../../platform/audit/index.ts'
import type { People } from '../../../../identities/people.ts'
import type { IdentityRow } from '../../../../identities/store.ts'
import type { Sessions } from '../../../../sessions/index.ts'
import type { SessionWithIdentity } from '../../../../sessions/store.ts'
import type { ContinueWith } from '../../../model.ts'
import { recordOwn } from '../../actor.ts'
import { fieldError } from '../../failure.ts'
import type { FlowRepository } from '../../flow.ts'
import type { SessionAccess } from '../../session-access.ts'
import type { FlowRow } from '../../store.ts'
import type { Form } from '../../submission.ts'
import type { Throttle } from '../../throttle.ts'
import type { Method, Outcome } from '../kind.ts'

/** A form submitted in a session of the account's owner. */
export interface SettingsForm extends Form {
  session: SessionWithIdentity
}

/** The data to change, as of the current commit. */
export interface SettingsTarget {
  flow: FlowRow
  person: IdentityRow
  session: SessionWithIdentity
}

export type Changes = ReturnType<typeof createChanges>

/** Each change runs in one commit and a valid session, limited by IP because anyone can sign up. */
export function createChanges(parts: {
  audit: Audit
  people: People
  sessions: Sessions
  access: SessionAccess
  repository: FlowRepository
  throttle: Throttle
  hostedUrl: (flow: FlowRow) => string
}) {
  const { audit, people, sessions, access, repository, throttle, hostedUrl } = parts

  /** Completes the flow; a page continues with a new one. `carryOut` returns what is left to do. */
  async function change(
    form: SettingsForm,
    method: Method,
    carryOut: (target: SettingsTarget) => ContinueWith[] | undefined,
  ): Promise<Outcome> {
    throttle.counted(form.client)
    return repository.advance(form.flow, (current) => {
      const target = targetOf(form, current)
      const continueWith = carryOut(target)
      const flow = repository.complete(target.flow, { state: 'success', active: method })
      const isPage = form.client.wants === 'page'
      return {
        is: 'flow' as const,
        flow,
        ...(continueWith && { continueWith }),
        ...(isPage && { next: hostedUrl(another(flow, continueWith)) }),
      }
    })
  }

  /** An intermediate step that keeps the flow open. */
  async function step(
    form: SettingsForm,
    carryOut: (target: SettingsTarget) => FlowRow,
  ): Promise<Outcome> {
    throttle.counted(form.client)
    return repository.advance(form.flow, (current) => ({
      is: 'flow' as const,
      flow: carryOut(targetOf(form, current)),
    }))
  }

  /** Checked again within the commit, because the session may have ended in the meantime. */
  function targetOf({ session: { id } }: SettingsForm, flow: FlowRow): SettingsTarget {
    const session = sessions.alive(flow.tenantId, id)
    if (!session || sessions.owes(session)) throw fieldError(4050001)
    return { flow, session, person: people.existing(flow.tenantId, session.identity_id) }
  }

  /** Reports the change before the next one is requested. */
  function another(flow: FlowRow, continueWith: ContinueWith[] = []): FlowRow {
    const sent = continueWith.find((one) => one.action === 'show_verification_ui')
    const asked = sent && {
      id: 1900002 as const,
      context: { address: sent.flow.verifiable_address, url: sent.flow.url },
    }
    return repository.renew(flow, [asked ?? { id: 1050001 }])
  }

  const requireFresh = ({ flow, session, client }: SettingsForm) =>
    access.requireFresh(flow, session, client)

  const record = (person: IdentityRow, action: string, detail?: Record<string, unknown>) =>
    recordOwn(audit, person, action, detail)

  return { change, step, requireFresh, record }
}
