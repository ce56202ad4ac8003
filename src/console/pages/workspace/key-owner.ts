import { fail, notFound } from '../../../platform/errors.ts'
import type { ApiKey } from '../../../platform/keys/index.ts'
import type { OperatorPageContext } from '../../page.tsx'
import { memberNames } from './keys.tsx'

type Context = OperatorPageContext & { tenantId?: string | undefined }

/** Whose keys a page shows: those of a tenant, to its owners, or of the installation, to admins. */
export interface KeyOwner {
  right: 'keys' | 'admin'
  /** The tenant; null for the installation. */
  idIn: (context: Context) => string | null
  /** Email addresses of those who created keys, by ID. */
  namesFor: (context: Context, keys: readonly ApiKey[]) => ReadonlyMap<string, string>
}

const tenantIn = ({ tenantId }: Context): string => tenantId ?? fail(notFound('tenant not found'))

export const OF_TENANT: KeyOwner = {
  right: 'keys',
  idIn: tenantIn,
  namesFor: (context) => memberNames({ ...context, tenantId: tenantIn(context) }),
}

export const OF_INSTALLATION: KeyOwner = {
  right: 'admin',
  idIn: () => null,
  namesFor: ({ gateOperators }, keys) =>
    new Map(
      keys.flatMap(({ created_by: by }) => {
        const creator = by?.id ? gateOperators.operatorList.find(by.id) : undefined
        return creator ? [[creator.id, creator.email] as const] : []
      }),
    ),
}
