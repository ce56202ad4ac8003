import { Elysia } from 'elysia'
import type { Access } from '../../../http/access.ts'
import { Empty, PlainErrors, refusalsIn } from '../../../http/responses.ts'
import { SessionDetail } from '../model/sessions.ts'
import type { Sessions } from '../sessions.ts'

const { 404: Unknown } = PlainErrors
const { refused } = refusalsIn(PlainErrors)

/** contract/gate, sessions; whoami is added. */
export function sessionRoutes({ sessions, access }: { sessions: Sessions; access: Access }) {
  return new Elysia({ prefix: '/sessions', tags: ['gate'] })
    .use(access)
    .get(
      '/whoami',
      ({ caller, request }) =>
        sessions.whoami(request.headers.get('x-session-token') ?? undefined, caller),
      {
        optionalKeyOf: 'gate',
        detail: {
          summary: 'Whose session is this?',
          description:
            'By `X-Session-Token`. With an API key besides, only a session of its tenant is good: send one from a server.',
        },
        response: { 200: SessionDetail, ...refused },
      },
    )
    .delete(
      '/:session_id',
      ({ caller, params, status }) =>
        sessions.revoke(caller, params.session_id).then(() => status(204, undefined)),
      {
        scope: 'sessions:write',
        detail: { summary: 'End a session' },
        response: { 204: Empty, ...refused, 404: Unknown },
      },
    )
}
