import type { TestApp } from '../app.ts'

/** Whose shop it is, and the keys of its own programs. */
export type Premises = Awaited<ReturnType<typeof openPremises>>

export async function openPremises(app: TestApp) {
  const { id: tenantId, key } = await app.tenant('Harbour Books')
  const gateKey = (await key('gate', 'live')).key
  const api = { gate: app.client(gateKey), relay: app.client((await key('relay', 'live')).key) }
  await key('passepartout', 'live')
  return { app, tenantId, gateKey, api }
}

/** The id of what was made. */
export function created({ status, body }: { status: number; body: { id: string } }): string {
  if (status !== 201) throw new Error(`answered ${status}: ${JSON.stringify(body)}`)
  return body.id
}
