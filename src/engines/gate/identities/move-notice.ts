import type { Actor } from '../../../platform/audit/index.ts'
import type { Mail } from '../../../platform/mail/index.ts'
import type { Notify } from '../sign-in/flows/notices.ts'
import type { Store } from '../store.ts'
import type { IdentityRow } from './store.ts'

export type MoveNotice = ReturnType<typeof createMoveNotice>

/**
 * Tells the verified address of an account, within the commit, that an operator replaces it. An app
 * that changes an address with an API key announces it itself, if at all. Without a mail server there
 * is no notice: one that is sent days later would mislead.
 */
export const createMoveNotice =
  ({ mail, store, notify }: { mail: Pick<Mail, 'hasServer'>; store: Store; notify: Notify }) =>
  (actor: Actor, row: IdentityRow, newAddress: string): void => {
    const { tenantId, id, email } = row
    if (actor.kind !== 'operator' || newAddress === email || !mail.hasServer) return
    if ((store.addresses.of(tenantId, id)?.verifiedAt ?? null) === null) return
    notify({ tenantId, language: 'en' }, row, (mailTemplates, about) =>
      mailTemplates.emailChangedByAdmin({ ...about, newAddress }),
    )
  }
