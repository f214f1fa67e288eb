declare module 'parse-prometheus-text-format' {
  export interface Sample {
    labels?: Record<string, string>;
    value?: string;
  }

  export interface Family {
    name: string;
    help: string;
    type: string;
    metrics: Sample[];
  }

  export default function parse(text: string): Family[];
}
