import type { Sealing } from '../sealing/index.ts'

export type RecipientHash = ReturnType<typeof createRecipientHash>

const SEALED = 'mail recipients'

/**
 * A keyed hash of an address, different per tenant and for the installation (null), by which mails
 * are counted. It outlives the address: the database alone does not reveal whose it is.
 */
export const createRecipientHash =
  (sealing: Sealing) =>
  (tenantId: string | null, recipient: string): string =>
    sealing.fingerprint(SEALED, JSON.stringify([tenantId, recipient]))
