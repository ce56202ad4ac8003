import type { Crumb } from '../../../../views/layout/model.ts'
import type { IdentityDetail } from '../../../engines/gate/identities/model.ts'
import { fail, notFound } from '../../../platform/errors.ts'
import type { PageContext } from '../../page.tsx'

/** The user in the path, of the operator's tenant. */
export const userIn = ({ gate, caller, params }: PageContext<'/:id'>): IdentityDetail =>
  gate.identities.find(caller('gate', 'live'), params.id) ?? fail(notFound('identity not found'))

/** Leads from a page about a user to the user. */
export const crumbToUser = (
  { identity }: { identity: IdentityDetail },
  { href }: Pick<PageContext, 'href'>,
): readonly Crumb[] => [{ label: identity.traits.email, href: href(`/identities/${identity.id}`) }]
