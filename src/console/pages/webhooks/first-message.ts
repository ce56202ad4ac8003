import type { CurlRequest } from '../../../../views/ui/code.tsx'

const KEY = '$RELAY_KEY'

const headers = { Authorization: `Bearer ${KEY}`, 'Content-Type': 'application/json' }

/** Request that sends a message. */
export const firstMessage = (apiUrl: string): CurlRequest => ({
  url: `${apiUrl}/v1/relay/messages`,
  headers,
  body: { event_type: 'order.paid', payload: { order: 42 } },
})

/** Request that creates an endpoint. */
export const firstEndpoint = (apiUrl: string): CurlRequest => ({
  url: `${apiUrl}/v1/relay/endpoints`,
  headers,
  body: { url: 'https://example.com/hook', event_types: ['order.*'] },
})
