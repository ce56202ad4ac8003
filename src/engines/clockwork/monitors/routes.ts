import { Elysia, t } from 'elysia'
import { Empty, PlainErrors, refusalsIn } from '../../../http/responses.ts'
import type { Scoped } from '../../../http/scoped.ts'
import { Monitor, MonitorChange, MonitorQuery, NewMonitor, Ping } from './model.ts'
import type { Monitors } from './monitors.ts'

const { 404: Unknown, 409: Conflict } = PlainErrors
const { refused, badBody, spent } = refusalsIn(PlainErrors)
const scope = 'clockwork'

/** The API of monitors, for each prefix. */
export function createMonitorRoutes(parts: { access: Scoped; monitors: Monitors }) {
  const { access, monitors } = parts

  return new Elysia({ prefix: '/monitors', tags: ['clockwork'] })
    .use(access)
    .get('', ({ caller, query }) => monitors.list(caller, query), {
      scope,
      detail: { summary: 'List monitors', description: 'Newest first.' },
      query: MonitorQuery,
      response: { 200: t.Array(Monitor), ...refused },
    })
    .post(
      '',
      async ({ caller, body, status }) => status(201, await monitors.create(caller, body)),
      {
        scope,
        detail: {
          summary: 'Create a monitor',
          description:
            'Needs `period_seconds` or `schedule`. The grace time is an hour unless given.',
        },
        body: NewMonitor,
        response: { 201: Monitor, ...badBody, ...refused, ...spent, 409: Conflict },
      },
    )
    .get('/:monitor_id', ({ caller, params }) => monitors.get(caller, params.monitor_id), {
      scope,
      detail: { summary: 'Get a monitor' },
      response: { 200: Monitor, ...refused, 404: Unknown },
    })
    .patch(
      '/:monitor_id',
      ({ caller, params, body }) => monitors.update(caller, params.monitor_id, body),
      {
        scope,
        detail: {
          summary: 'Update a monitor',
          description:
            'Changes only the given fields. A period replaces a schedule, and the reverse; it counts from now.',
        },
        body: MonitorChange,
        response: { 200: Monitor, ...badBody, ...refused, 404: Unknown },
      },
    )
    .delete(
      '/:monitor_id',
      ({ caller, params, status }) =>
        monitors.remove(caller, params.monitor_id).then(() => status(204, undefined)),
      {
        scope,
        detail: { summary: 'Delete a monitor and its pings' },
        response: { 204: Empty, ...refused, 404: Unknown },
      },
    )
    .post('/:monitor_id/pause', ({ caller, params }) => monitors.pause(caller, params.monitor_id), {
      scope,
      detail: {
        summary: 'Pause a monitor',
        description: 'Pings are stored, but change nothing until it is resumed.',
      },
      response: { 200: Monitor, ...refused, 404: Unknown },
    })
    .post(
      '/:monitor_id/resume',
      ({ caller, params }) => monitors.resume(caller, params.monitor_id),
      {
        scope,
        detail: { summary: 'Resume a monitor', description: 'It expects a ping from now on.' },
        response: { 200: Monitor, ...refused, 404: Unknown },
      },
    )
    .post(
      '/:monitor_id/rotate-token',
      ({ caller, params }) => monitors.rotateToken(caller, params.monitor_id),
      {
        scope,
        detail: {
          summary: 'Rotate the ping URL of a monitor',
          description: 'The old URL stops working immediately.',
        },
        response: { 200: Monitor, ...refused, 404: Unknown },
      },
    )
    .get(
      '/:monitor_id/pings',
      ({ caller, params }) => monitors.pings(caller.tenantId, params.monitor_id),
      {
        scope,
        detail: { summary: 'List pings of a monitor', description: 'The last 100, newest first.' },
        response: { 200: t.Array(Ping), ...refused, 404: Unknown },
      },
    )
}
