import type { Monitor } from '../../../engines/clockwork/monitors/model.ts'

/** A cron schedule for a job that has to ping in time: daily, unless the period is shorter. */
export function scheduleFor({ schedule, period_seconds: seconds }: Expectation): string {
  if (schedule !== null) return schedule
  const minutes = Math.floor((seconds ?? DAY) / 60)
  if (minutes >= 1440) return '0 3 * * *'
  if (minutes >= 60) return `0 */${Math.floor(minutes / 60)} * * *`
  return `*/${minutes} * * * *`
}

const DAY = 86_400

type Expectation = Pick<Monitor, 'schedule' | 'period_seconds'>

/** Lines that ping a monitor, for the ways in which jobs are run. `url` has no character that needs quotes. */
export const instructionsFor = (
  url: string,
  schedule: string,
): readonly { title: string; text: string }[] => [
  { title: 'cron', text: `${schedule} /usr/local/bin/job; curl ${OPTIONS} ${url}/$?` },
  {
    title: 'Shell script',
    text: `curl ${OPTIONS} ${url}/start
log=$(/usr/local/bin/job 2>&1); code=$?
printf '%s' "$log" | tail -c 10000 | curl ${OPTIONS} --data-binary @- ${url}/$code`,
  },
  {
    title: 'systemd',
    text: `# /etc/systemd/system/job.service
[Unit]
OnFailure=job-failed.service

[Service]
Type=oneshot
ExecStart=/usr/local/bin/job
ExecStartPost=-/usr/bin/curl ${OPTIONS} ${url}

# /etc/systemd/system/job-failed.service
[Service]
Type=oneshot
ExecStart=/usr/bin/curl ${OPTIONS} ${url}/fail`,
  },
  {
    title: 'Docker Compose',
    text: `services:
  app:
    healthcheck:
      test: ["CMD-SHELL", "/app/is-healthy && wget -q -T 10 -O /dev/null ${url}"]
      interval: 5m`,
  },
  {
    title: 'Kubernetes CronJob',
    text: `apiVersion: batch/v1
kind: CronJob
metadata:
  name: job
spec:
  schedule: "${schedule}"
  jobTemplate:
    spec:
      backoffLimit: 0
      template:
        spec:
          restartPolicy: Never
          containers:
            - name: job
              image: alpine:3
              command: ["/bin/sh", "-c"]
              args: ["/usr/local/bin/job; wget -q -T 10 -O /dev/null ${url}/$?"]`,
  },
  {
    title: 'Python',
    text: `import urllib.request

def ping(signal=""):
    try:
        urllib.request.urlopen("${url}" + signal, timeout=10)
    except OSError as error:
        print("ping failed:", error)

ping("/start")
try:
    job()
    ping()
except Exception:
    ping("/fail")
    raise`,
  },
  {
    title: 'PowerShell',
    text: `Invoke-RestMethod ${url}/start
C:\\job.exe
Invoke-RestMethod "${url}/$($LASTEXITCODE -band 255)"`,
  },
]

const OPTIONS = '-fsS -m 10 --retry 5 -o /dev/null'
