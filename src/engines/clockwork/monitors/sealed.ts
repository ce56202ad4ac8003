import { sealedColumn } from '../../../platform/sealing/column.ts'
import { monitors } from './schema.ts'

export const monitorToken = sealedColumn({
  column: monitors.token,
  purpose: 'monitor tokens',
  named: { id: monitors.id },
  boundTo: ({ id }) => `monitors/${id}/token`,
})
