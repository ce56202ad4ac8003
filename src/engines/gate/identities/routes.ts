import { Elysia, t } from 'elysia'
import type { Access } from '../../../http/access.ts'
import { PageOf, pageQuery } from '../../../http/paging.ts'
import { Empty, PlainErrors, refusalsIn } from '../../../http/responses.ts'
import type { CredentialRemoval } from '../credentials/removal.ts'
import type { Sessions } from '../sessions/index.ts'
import { Session } from '../sessions/model.ts'
import type { RequestedMails } from '../sign-in/requested-mails.ts'
import type { Editing } from './editing.ts'
import type { Identities } from './index.ts'
import {
  IdentityDetail,
  JsonPatch,
  Metadata,
  NewIdentity,
  StartedFlow,
  State,
  StateChange,
} from './model.ts'

const { 402: Unpaid, 404: Unknown, 409: Conflict, 429: TooMany } = PlainErrors
const { refused, badBody } = refusalsIn(PlainErrors)

/** contract/gate, identity management; plus the list. */
export function identityRoutes(parts: {
  identities: Identities
  editing: Editing
  sessions: Sessions
  verification: RequestedMails['verification']
  credentialRemoval: CredentialRemoval
  access: Access
}) {
  const { identities, editing, sessions, verification, credentialRemoval, access } = parts

  return new Elysia({ prefix: '/identities', tags: ['gate'] })
    .use(access)
    .post(
      '',
      async ({ caller, body, set, status }) => {
        const identity = await identities.create(caller, body)
        set.headers.location = `/v1/gate/identities/${identity.id}`
        return status(201, identity)
      },
      {
        scope: 'identities:write',
        detail: {
          summary: 'Create an identity',
          description: 'Omit the password for users who sign in with another method.',
        },
        body: NewIdentity,
        response: { 201: IdentityDetail, ...badBody, ...refused, 402: Unpaid, 409: Conflict },
      },
    )
    .get('', ({ caller, query }) => identities.list(caller, query), {
      scope: 'identities:read',
      detail: {
        summary: 'List identities',
        description: 'Newest first; sorted by address with `search`.',
      },
      query: pageQuery({
        email: t.Optional(t.String({ description: 'A complete email address.' })),
        search: t.Optional(t.String({ description: 'The beginning of an email address.' })),
        state: t.Optional(State),
      }),
      response: { 200: PageOf(IdentityDetail), ...refused },
    })
    .get('/:identity_id', ({ caller, params }) => identities.get(caller, params.identity_id), {
      scope: 'identities:read',
      detail: { summary: 'Get an identity' },
      response: { 200: IdentityDetail, ...refused, 404: Unknown },
    })
    .patch(
      '/:identity_id',
      ({ caller, params, body }) => editing.patch(caller, params.identity_id, body),
      {
        scope: 'identities:write',
        detail: {
          summary: 'Update an identity',
          description:
            'JSON Patch (RFC 6902) on `traits`, `metadata_public` and `state`. Applies all operations or none. An empty patch changes nothing.',
        },
        body: JsonPatch,
        response: { 200: IdentityDetail, ...badBody, ...refused, 404: Unknown, 409: Conflict },
      },
    )
    .delete(
      '/:identity_id',
      ({ caller, params, status }) =>
        identities.remove(caller, params.identity_id).then(() => status(204, undefined)),
      {
        scope: 'identities:write',
        detail: {
          summary: 'Delete an identity',
          description: 'Deletes all data of the user except the audit log.',
        },
        response: { 204: Empty, ...refused, 404: Unknown },
      },
    )
    .patch(
      '/:identity_id/state',
      ({ caller, params, body }) => editing.setState(caller, params.identity_id, body.state),
      {
        scope: 'identities:write',
        detail: {
          summary: 'Deactivate or reactivate an identity',
          description:
            'Deactivation permanently ends all sessions and access tokens. Every successful request sends a webhook event.',
        },
        body: StateChange,
        response: { 200: IdentityDetail, ...badBody, ...refused, 404: Unknown },
      },
    )
    .get(
      '/:identity_id/metadata',
      ({ caller, params }) => editing.metadata(caller, params.identity_id),
      {
        scope: 'identities:read',
        detail: { summary: 'Get the metadata of an identity' },
        response: { 200: Metadata, ...refused, 404: Unknown },
      },
    )
    .patch(
      '/:identity_id/metadata',
      ({ caller, params, body }) => editing.mergeMetadata(caller, params.identity_id, body),
      {
        scope: 'identities:write',
        detail: {
          summary: 'Update the metadata of an identity',
          description: 'JSON Merge Patch (RFC 7396): null deletes a member, lists are replaced.',
        },
        body: Metadata,
        response: { 200: Metadata, ...badBody, ...refused, 404: Unknown },
      },
    )
    .get(
      '/:identity_id/sessions',
      ({ caller, params }) => sessions.list(caller, params.identity_id),
      {
        scope: ['identities:read', 'sessions:write'],
        detail: {
          summary: 'List the active sessions of an identity',
          description: 'Newest first.',
        },
        response: { 200: t.Array(Session), ...refused, 404: Unknown },
      },
    )
    .delete(
      '/:identity_id/sessions',
      ({ caller, params, status }) =>
        sessions.revokeAll(caller, params.identity_id).then(() => status(204, undefined)),
      {
        scope: 'sessions:write',
        detail: { summary: 'End all sessions of an identity' },
        response: { 204: Empty, ...refused, 404: Unknown },
      },
    )
    .delete(
      '/:identity_id/credentials/:type',
      ({ caller, params, status }) =>
        credentialRemoval
          .remove(caller, params.identity_id, params.type)
          .then(() => status(204, undefined)),
      {
        scope: 'identities:write',
        detail: {
          summary: 'Remove a credential of an identity',
          description:
            '`password`, `totp` (with the recovery codes), `lookup_secret` or `oidc` (all social logins). Sessions stay active.',
        },
        response: { 204: Empty, ...refused, 404: Unknown },
      },
    )
    .post(
      '/:identity_id/resend-verification',
      async ({ caller, params, status }) =>
        status(202, await verification.resend(caller, params.identity_id)),
      {
        scope: 'identities:write',
        detail: {
          summary: 'Email a new verification code',
          description: 'For an unverified address. Earlier codes stop working.',
        },
        response: {
          202: StartedFlow,
          ...badBody,
          ...refused,
          402: Unpaid,
          404: Unknown,
          429: TooMany,
        },
      },
    )
}
