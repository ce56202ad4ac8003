import { Button } from '../../../../views/ui/form/button.tsx'
import { PageForm } from '../../../../views/ui/form/form.tsx'
import { PageHead } from '../../../../views/ui/section.tsx'
import { shorten, Text } from '../../../../views/ui/text.tsx'
import type { Monitor } from '../../../engines/clockwork/monitors/model.ts'
import type { ExpectedPings } from '../../../engines/clockwork/monitors/monitors.ts'
import type { Fields } from '../../../http/body.ts'
import { good, type PageContext, page } from '../../page.tsx'
import { isPreview, validOr } from '../form-preview.tsx'
import { MAX_TITLE_LENGTH } from '../jobs/job.tsx'

import { expectationIn, MONITOR_FIELDS, MonitorFields, monitorIn, valuesOf } from './fields.tsx'

interface MonitorForm {
  monitor?: Monitor
  initial: Fields
  expected: ExpectedPings | undefined
}

export const newMonitor = page({
  path: '/monitors/new',
  section: 'monitors',
  right: 'change',
  title: 'New monitor',

  load(context): MonitorForm {
    const initial = valuesOf()
    return { initial, expected: expectedBy(context, initial) }
  },

  view: MonitorPage,

  actions: {
    '': {
      right: 'change',
      form: MONITOR_FIELDS,
      flash: good('Monitor created. It waits for its first ping.'),
      async run({ clockwork, caller, fields }) {
        if (isPreview(fields)) return previewed(fields)
        const { id } = await clockwork.monitors.create(caller('clockwork'), monitorIn(fields))
        return { to: `/monitors/${id}` }
      },
    },
  },
})

export const editMonitor = page({
  path: '/monitors/:id/edit',
  section: 'monitors',
  right: 'change',
  title: 'Edit monitor',

  load(context): MonitorForm & { monitor: Monitor } {
    const { clockwork, caller, params } = context
    const monitor = clockwork.monitors.get(caller('clockwork'), params.id)
    const initial = valuesOf(monitor)
    return { monitor, initial, expected: expectedBy(context, initial) }
  },

  above: ({ monitor }, { href }) => [
    { label: shorten(monitor.name, MAX_TITLE_LENGTH), href: href(`/monitors/${monitor.id}`) },
  ],

  view: MonitorPage,

  actions: {
    '': {
      right: 'change',
      form: MONITOR_FIELDS,
      flash: good('Monitor saved.'),
      async run({ clockwork, caller, params, fields }) {
        const by = caller('clockwork')
        const { id } = clockwork.monitors.get(by, params.id)
        if (isPreview(fields)) return previewed(fields)
        await clockwork.monitors.update(by, id, monitorIn(fields))
        return { to: `/monitors/${id}` }
      },
    },
  },
})

function MonitorPage({ monitor, initial, expected }: MonitorForm) {
  return (
    <>
      <PageHead
        title={monitor ? 'Edit monitor' : 'New monitor'}
        state={{
          sentence: monitor ? (
            <Text text={monitor.name} limit={120} />
          ) : (
            "Notices when a job elsewhere doesn't run. The job requests a URL each time."
          ),
        }}
      />
      <PageForm
        action=""
        initial={initial}
        buttons={<Button weight="primary">{monitor ? 'Save monitor' : 'Create monitor'}</Button>}
        cancel={monitor ? `/monitors/${monitor.id}` : '/monitors'}
      >
        <MonitorFields expected={expected} />
      </PageForm>
    </>
  )
}

/** Shows the form again, with the preview of what it expects. */
function previewed(fields: Fields) {
  expectationIn(fields)
  return { again: true } as const
}

/** What the form expects, as it was sent or as it is at first; undefined if that is invalid. */
const expectedBy = ({ clockwork, submission }: PageContext, initial: Fields) =>
  validOr(() => clockwork.monitors.expected(expectationIn(submission?.values ?? initial)))
