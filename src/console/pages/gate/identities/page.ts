import type { FormError } from '../../../../../views/console/form/error-summary.tsx'
import { rawText } from '../../../../../views/console/form/values.ts'
import { IdentityPage } from '../../../../../views/console/pages/gate/identities/identity.tsx'
import { deviceOf } from '../../../../platform/device.ts'
import { conflict, fail, notFound } from '../../../../platform/errors.ts'
import { submitted, trimmedText } from '../../../form.ts'
import { crumbTo } from '../../../layout.ts'
import type { Context } from '../context.ts'
import type { GateParts } from '../parts.ts'
import { FLASHES } from './flashes.ts'
import { metadataIn } from './metadata.ts'

/** One user, with a form for the metadata. */
export function identityPage({ layout, gate, clock, operators }: GateParts) {
  const { identities, editing, sessions, history, signInMethods } = gate

  function show(
    context: Context,
    of: { input?: string; errors?: readonly FormError[] } = {},
  ): Response {
    const { request, operator, tenant, caller, mayChange, mayDelete, query, params } = context
    const identity = identities.find(caller, params.id) ?? fail(notFound('identity not found'))
    return layout.page({
      request,
      operator,
      title: identity.traits.email,
      active: 'identities',
      above: [crumbTo(layout.base(), 'identities')],
      flash: FLASHES.get(query.done ?? ''),
      status: of.errors ? 422 : 200,
      children: IdentityPage({
        base: layout.base(),
        now: clock.now(),
        identity,
        sessions: sessions
          .list(caller, identity.id)
          .map((session) => ({
            ...session,
            device: deviceOf(session.devices[0]?.user_agent ?? null),
          })),
        activity: history.of(caller, identity.id),
        names: new Map(
          operators.memberships.list(tenant.tenantId).map(({ id, email }) => [id, email]),
        ),
        hasCode: signInMethods.security(caller).passwordless_enabled,
        mayChange,
        mayDelete,
        ...of,
      }),
    })
  }

  /** Replaces the metadata, unless it was changed after the form was opened. */
  async function saveMetadata(context: Context): Promise<Response> {
    const { caller, body, params } = context
    const before = identities.find(caller, params.id) ?? fail(notFound('identity not found'))
    const path = '/metadata_public'
    const { errors } = await submitted(
      async () => {
        const value = metadataIn(body)
        if (trimmedText(body, 'seen') !== before.updated_at)
          throw conflict('has changed since you opened this form. Save again to replace it', {
            field: 'metadata',
            rule: 'changed',
          })
        const unchanged = { op: 'test', path, value: before.metadata_public }
        await editing.patch(caller, before.id, [unchanged, { op: 'replace', path, value }])
      },
      { metadata: 'metadata' },
    )
    return errors
      ? show(context, { input: rawText(body, 'metadata') ?? '', errors })
      : layout.go(`/console/identities/${before.id}?done=metadata`)
  }

  return { show, saveMetadata }
}
