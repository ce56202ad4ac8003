import { Confirm } from '../../../../views/ui/confirm.tsx'
import { Button } from '../../../../views/ui/form/button.tsx'
import { Field } from '../../../../views/ui/form/field.tsx'
import { PageForm } from '../../../../views/ui/form/form.tsx'
import { PageHead, Section } from '../../../../views/ui/section.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { trimmedText } from '../../form.ts'
import { good, page, usePage } from '../../page.tsx'
import { SettingsTabs } from './settings-tabs.tsx'

/** Export and deletion of a tenant. */
export const settingsDataPage = page({
  path: '/settings/data',
  section: 'settings',
  right: 'settings',
  title: 'Export and delete',

  load: ({ tenants, tenantId }) => ({ name: tenants.find(tenantId).name }),

  view: ({ name }) => (
    <>
      <PageHead
        title="Export and delete"
        state={{ sentence: 'Move the tenant to another installation, or end it.' }}
      />
      <SettingsTabs current="data" />
      <Export />
      <Deletion name={name} />
    </>
  ),

  actions: {
    export: {
      right: 'settings',
      run: async ({ tenantDownload, tenantId, actor }) => ({
        file: await tenantDownload.start(actor, tenantId),
      }),
    },
    delete: {
      right: 'settings',
      form: { name: 'name' },
      flash: good('Tenant deleted.'),
      async run({ tenantDeletion, tenantId, actor, fields }) {
        await tenantDeletion.begin(actor, tenantId, trimmedText(fields, 'name'))
        return { to: '', isTenantGone: true }
      },
    },
  },
})

const Export = () => (
  <Section
    id="export"
    title="Export"
    note="Users, endpoints, jobs, bots, API keys and settings, as NDJSON for gatehouse import. Without history: runs, messages, deliveries and the audit log."
  >
    <Confirm
      id="export-tenant"
      verb="Export tenant"
      question="Export the tenant?"
      consequence="The file contains secrets in plain text, such as signing secrets and authenticator keys. Protect it like passwords, and delete it soon."
      action={usePage().actionHref('export')}
      isHarmless
    />
  </Section>
)

const Deletion = ({ name }: { name: string }) => (
  <section class="danger" aria-labelledby="delete">
    <h2 id="delete">Delete tenant</h2>
    <div class="card">
      <p>
        Deletes <Text text={name} limit={64} /> with all users and their sessions, jobs and runs,
        endpoints, messages and deliveries, bots, API keys, usage and settings. Jobs, bots and
        deliveries stop immediately, and the team loses access. Only the audit log is kept, for
        administrators.
      </p>
      <p>
        <strong>This can't be undone.</strong> Export the tenant first if you might need it.
      </p>
      <PageForm
        action="delete"
        anchor="delete"
        buttons={<Button weight="destroy">Delete tenant</Button>}
      >
        <Field
          name="name"
          label="Name of the tenant"
          isRequired
          help={
            <>
              Type <Text text={name} limit={200} /> to confirm.
            </>
          }
        />
      </PageForm>
    </div>
  </section>
)
