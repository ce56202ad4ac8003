import { Elysia, t } from 'elysia'
import type { Access } from '../../../http/access.ts'
import { Empty, PlainErrors, refusalsIn } from '../../../http/responses.ts'
import type { Flows } from '../flows/index.ts'
import { Exchange, SignedIn } from '../model/flows.ts'
import { SessionDetail } from '../model/sessions.ts'
import type { Sessions } from '../sessions.ts'
import { Refusal } from './flow-answers.ts'

const { 404: Unknown } = PlainErrors
const { refused, badBody } = refusalsIn(PlainErrors)

/** contract/gate, sessions; whoami and exchange are added. */
export function sessionRoutes(parts: { sessions: Sessions; flows: Flows; access: Access }) {
  const { sessions, flows, access } = parts

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
        response: { 200: SessionDetail, ...refused, 403: t.Union([Refusal, PlainErrors[403]]) },
      },
    )
    .post('/exchange', ({ caller, body }) => flows.exchange(caller, body), {
      scope: 'flows',
      body: Exchange,
      detail: {
        summary: 'Exchange a code for a session',
        description:
          'For the `flow` and the `code` that a browser brought back to the address of `X-Return-To`: once, within 5 minutes.',
      },
      response: { 200: SignedIn, ...badBody, ...refused, 404: Unknown },
    })
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
