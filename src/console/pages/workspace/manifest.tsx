import { Button, LinkButton } from '../../../../views/ui/form/button.tsx'
import { Checkbox } from '../../../../views/ui/form/choices.tsx'
import { CodeEditor } from '../../../../views/ui/form/code-editor.tsx'
import { rawText } from '../../../../views/ui/form/field.tsx'
import { PageForm } from '../../../../views/ui/form/form.tsx'
import { PageHead, Section } from '../../../../views/ui/section.tsx'
import type { Fields } from '../../../http/body.ts'
import type { Change } from '../../../manifest/changes.ts'
import { parseManifest, printManifest } from '../../../manifest/file.ts'
import { MAX_CHANGES } from '../../../manifest/limits.ts'
import { stampOf } from '../../../platform/clock.ts'
import { AppError, type FieldError } from '../../../platform/errors.ts'
import { trimmedText } from '../../form.ts'
import { good, type PageContext, page, shown, usePage } from '../../page.tsx'
import { ManifestChanges, OneTimeSecrets } from './manifest-changes.tsx'
import { SettingsTabs } from './settings-tabs.tsx'

interface ManifestView {
  /** The current manifest if it was asked for, because it can be long. */
  text: string
  /** Of a plan. */
  changes: readonly Change[] | undefined
}

/** The configuration of a tenant as a text, which can be changed, planned and applied. */
export const manifestPage = page({
  path: '/settings/manifest',
  section: 'settings',
  right: 'settings',
  title: 'Configuration as code',

  load: ({ manifests, caller, query, result }: PageContext): ManifestView => ({
    text:
      query.edit === 'current' ? printManifest(manifests.export(caller('manifest', 'live'))) : '',
    changes: result as readonly Change[] | undefined,
  }),

  view({ text, changes }) {
    const { submission, actionHref, href } = usePage()
    return (
      <>
        <PageHead
          title="Configuration as code"
          state={{ sentence: 'Jobs, endpoints, settings and keys of this tenant as one file.' }}
          action={
            <>
              <LinkButton href={href('/settings/manifest', { edit: 'current' })}>
                Edit current
              </LinkButton>
              <a class="button" href={actionHref('download')} download>
                Download
              </a>
            </>
          }
        />
        <SettingsTabs current="manifest" />
        <PageForm
          action=""
          buttons={
            <Button weight="primary" name="intent" value="plan">
              Plan changes
            </Button>
          }
        >
          {changes !== undefined && <Plan changes={changes} />}
          <CodeEditor
            name="manifest"
            label="Manifest"
            value={text}
            errors={submission?.errors ?? []}
            help="In TOML, in whole or in part: sections that you leave out stay as they are. A mask keeps the stored secret."
          />
          <Checkbox
            name="prune"
            label="Delete objects that their section doesn't list"
            help="For keys, this revokes them."
          />
        </PageForm>
      </>
    )
  },

  actions: {
    '': {
      right: 'settings',
      form: { manifest: 'manifest' },
      flash: good('Configuration applied.'),
      run: planOrApply,
    },
  },

  files: {
    download: ({ manifests, caller, now, tenantId }) =>
      new Response(printManifest(manifests.export(caller('manifest', 'live'))), {
        headers: {
          'content-type': 'application/toml; charset=utf-8',
          'content-disposition': `attachment; filename="${tenantId}-${stampOf(now)}.toml"`,
        },
      }),
  },
})

/** Above the editor, because that can be long. */
const Plan = ({ changes }: { changes: readonly Change[] }) => (
  <Section id="plan" title="Plan" isCard>
    <ManifestChanges changes={changes} />
    {changes.length > 0 && (
      <div class="actions">
        <Button weight="primary" name="intent" value="apply">
          Apply {changes.length === 1 ? '1 change' : `${changes.length} changes`}
        </Button>
      </div>
    )}
  </Section>
)

/** Throws every error of the text, with its line. */
async function planOrApply({ manifests, fields, caller, href }: PageContext) {
  const by = caller('manifest', 'live')
  const options = { prune: fields.prune !== undefined, maxChanges: MAX_CHANGES }
  const text = textIn(fields)
  if (trimmedText(fields, 'intent') !== 'apply')
    return {
      again: true,
      result: await inEditor(text, (wanted) => manifests.plan(by, wanted, options)),
    } as const
  const changes = await inEditor(text, (wanted) => manifests.apply(by, wanted, options))
  const created = changes.filter(({ secret, ping_url: pingUrl }) => secret ?? pingUrl)
  if (created.length === 0) return undefined
  const doneHref = href('/settings/manifest')
  return shown('Configuration applied', <OneTimeSecrets created={created} doneHref={doneHref} />)
}

const textIn = (fields: Fields): string =>
  (rawText(fields, 'manifest') ?? '').replaceAll('\r\n', '\n')

/** Runs `work` with the manifest in a text. Its errors become those of the editor. */
async function inEditor<T>(text: string, work: (manifest: unknown) => Promise<T>): Promise<T> {
  try {
    const { manifest, located } = parseManifest(text)
    return await work(manifest).catch((error) => {
      throw error instanceof AppError ? located(error) : error
    })
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const [first, ...rest] = error.fieldErrors
    throw new AppError(error.kind, [ofEditor(first), ...rest.map(ofEditor)])
  }
}

const ofEditor = ({ field, problem, ...error }: FieldError): FieldError => ({
  ...error,
  field: 'manifest',
  problem: field === undefined ? problem : `in ${field}: ${problem}`,
})
