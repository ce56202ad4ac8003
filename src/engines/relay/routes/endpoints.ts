import { Elysia, t } from 'elysia'
import type { Access } from '../../../http/access.ts'
import { Rotated, Rotation, TestResult } from '../../../http/delivery-log/model.ts'
import { PageOf, pageQuery } from '../../../http/paging.ts'
import { CodedErrors, Empty, refusalsIn } from '../../../http/responses.ts'
import { memberText } from '../../../platform/json-text.ts'
import type { RelayEndpoints } from '../endpoints.ts'
import {
  CreatedEndpoint,
  Endpoint,
  EndpointChange,
  NewEndpoint,
  Replay,
  ReplayRequest,
  Stats,
  TestRequest,
} from '../model/endpoints.ts'

const { 404: Unknown, 409: Conflict } = CodedErrors
const { badBody, refused, spent } = refusalsIn(CodedErrors)
const scope = 'relay:endpoints'

/** The endpoint management API, which the contract leaves to the design. */
export function endpointRoutes(parts: { endpoints: RelayEndpoints; access: Access }) {
  const { endpoints, access } = parts

  return new Elysia({ prefix: '/endpoints', tags: ['relay'] })
    .use(access)
    .get('', ({ caller, query }) => endpoints.list(caller, query), {
      scope,
      detail: { summary: 'List endpoints', description: 'Newest first.' },
      query: pageQuery({}),
      response: { 200: PageOf(Endpoint), ...refused },
    })
    .post(
      '',
      async ({ caller, body, status }) => status(201, await endpoints.create(caller, body)),
      {
        scope,
        detail: { summary: 'Create an endpoint', description: 'The secret is shown only once.' },
        body: NewEndpoint,
        response: { 201: CreatedEndpoint, ...badBody, ...refused, 409: Conflict },
      },
    )
    .get('/:endpoint_id', ({ caller, params }) => endpoints.get(caller, params.endpoint_id), {
      scope,
      detail: { summary: 'Get an endpoint' },
      response: { 200: Endpoint, ...refused, 404: Unknown },
    })
    .patch(
      '/:endpoint_id',
      ({ caller, params, body }) => endpoints.update(caller, params.endpoint_id, body),
      {
        scope,
        detail: {
          summary: 'Update, pause or resume an endpoint',
          description:
            'Changes only the given fields. Replaces lists and `headers` as a whole. Deliveries to a paused endpoint are held.',
        },
        body: EndpointChange,
        response: { 200: Endpoint, ...badBody, ...refused, 404: Unknown, 409: Conflict },
      },
    )
    .delete(
      '/:endpoint_id',
      ({ caller, params, status }) =>
        endpoints.remove(caller, params.endpoint_id).then(() => status(204, undefined)),
      {
        scope,
        detail: {
          summary: 'Delete an endpoint',
          description: 'Cancels its unfinished deliveries.',
        },
        response: { 204: Empty, ...refused, 404: Unknown },
      },
    )
    .post(
      '/:endpoint_id/rotate-secret',
      ({ caller, params, body }) => endpoints.rotate(caller, params.endpoint_id, body),
      {
        scope,
        detail: {
          summary: 'Rotate the secret',
          description: 'The previous secret also signs during the grace period.',
        },
        body: t.Nullable(Rotation),
        response: { 200: Rotated, ...badBody, ...refused, 404: Unknown, 409: Conflict },
      },
    )
    .post(
      '/:endpoint_id/test',
      ({ caller, params, body, bodyText }) =>
        endpoints.test(
          caller,
          params.endpoint_id,
          body,
          body?.payload && memberText(bodyText, 'payload'),
        ),
      {
        scope,
        detail: {
          summary: 'Send a test event',
          description: 'Waits for the response. The event is not stored.',
        },
        body: t.Nullable(TestRequest),
        response: {
          200: TestResult,
          ...badBody,
          ...refused,
          ...spent,
          404: Unknown,
          409: Conflict,
        },
      },
    )
    .post(
      '/:endpoint_id/replay',
      async ({ caller, params, body, status }) => {
        const replay = await endpoints.replay(caller, params.endpoint_id, body)
        return body.dry_run ? status(200, replay) : status(202, replay)
      },
      {
        scope,
        detail: {
          summary: 'Replay past events to an endpoint',
          description:
            'Sends the events that match the current filters of the endpoint, at a limited rate.',
        },
        body: ReplayRequest,
        response: {
          200: Replay,
          202: Replay,
          ...badBody,
          ...refused,
          ...spent,
          404: Unknown,
          409: Conflict,
        },
      },
    )
    .get(
      '/:endpoint_id/stats',
      ({ caller, params, query }) => endpoints.stats(caller, params.endpoint_id, query),
      {
        scope,
        detail: {
          summary: 'Get hourly statistics of an endpoint',
          description: 'Default: the last day. Kept for a year.',
        },
        query: t.Object(
          { since: t.Optional(t.String()), until: t.Optional(t.String()) },
          { additionalProperties: true },
        ),
        response: { 200: Stats, ...refused, 404: Unknown },
      },
    )
}
