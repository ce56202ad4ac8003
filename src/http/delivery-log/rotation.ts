import type { Endpoints } from '../../delivery/endpoints.ts'
import type { Stream } from '../../delivery/stream.ts'
import type { Caller } from '../../platform/caller.ts'
import { isoOrNull } from '../../platform/clock.ts'
import { type Rotated, type Rotation, USUAL_GRACE_S } from './model.ts'

/** Rotates the secret of an endpoint and returns the API object. */
export async function rotateSecret(
  endpoints: Endpoints,
  stream: Stream,
  caller: Caller,
  id: string,
  input: Rotation | null,
): Promise<Rotated> {
  const { secret, previousExpiresAt } = await endpoints.rotateSecret(stream, caller.actor, id, {
    secret: input?.secret,
    graceMs: (input?.grace_seconds ?? USUAL_GRACE_S) * 1000,
  })
  return { secret, previous_expires_at: isoOrNull(previousExpiresAt) }
}
