import { fingerprintKeys } from '../schema.ts'
import { sealedColumn } from './column.ts'

export const fingerprintKey = sealedColumn({
  column: fingerprintKeys.key,
  purpose: 'fingerprint keys',
  named: { purpose: fingerprintKeys.purpose },
  boundTo: ({ purpose }) => `fingerprint_keys/${purpose}/key`,
})
