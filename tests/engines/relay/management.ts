import type { TestApp } from '../../support/app.ts'
import { relayOf } from './fixture.ts'

export { copyMessage, DELIVERIES, signedWith } from './fixture.ts'

/** The relay through one key, with endpoints at one URL. */
export function manage(app: TestApp, key: string, url: string) {
  const relay = relayOf(app, app.client(key), url)
  return { ...relay, publish: relay.deliver }
}
