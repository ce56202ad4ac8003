import { sealedColumn } from '../platform/sealing/column.ts'
import { endpoints } from './schema.ts'

const PURPOSE = 'webhook endpoints'
const named = { id: endpoints.id }

export const endpointHeaders = sealedColumn({
  column: endpoints.headers,
  purpose: PURPOSE,
  named,
  boundTo: ({ id }) => `endpoints/${id}/headers`,
})

export const endpointSecrets = sealedColumn({
  column: endpoints.secrets,
  purpose: PURPOSE,
  named,
  boundTo: ({ id }) => `endpoints/${id}/secrets`,
})

/** The sealed columns of the delivery layer. */
export const sealed = [endpointHeaders, endpointSecrets]
