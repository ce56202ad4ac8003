import type { Sealing } from '../sealing/index.ts'

export type RecipientHash = ReturnType<typeof createRecipientHash>

const SEALED = 'mail recipients'

/**
 * A keyed hash of an address that counts the mails to it, different for each tenant and for the
 * installation (null). It is kept after the address is erased; the database doesn't reveal
 * the address.
 */
export const createRecipientHash =
  (sealing: Sealing) =>
  (tenantId: string | null, recipient: string): string =>
    sealing.fingerprint(SEALED, JSON.stringify([tenantId, recipient]))
